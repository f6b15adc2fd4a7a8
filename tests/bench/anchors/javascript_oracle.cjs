// Reads {path: text} on standard input, answers {path: [[name, first line, last line, meaning], …] or null}.
// The only argument is the file of the parser.
const acorn = require(process.argv[2]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));

function parse(text) {
  for (const sourceType of ["module", "script"]) {
    try {
      return acorn.parse(text, {
        ecmaVersion: "latest", sourceType, locations: true, allowHashBang: true,
        allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true,
      });
    } catch { /* the other kind of source, or none */ }
  }
  return null;
}

const PLACES = new Set(["start", "end", "loc", "raw", "range"]);

// What is left of a node without places, quotes and empty statements.
function meaning(node) {
  if (Array.isArray(node)) {
    return node.filter((one) => !one || one.type !== "EmptyStatement").map(meaning);
  }
  if (typeof node === "bigint") return String(node);
  if (!node || typeof node !== "object" || node instanceof RegExp) return node;
  const left = {};
  for (const [name, value] of Object.entries(node)) {
    if (PLACES.has(name) && !(node.type === "TemplateElement")) continue;
    if (["start", "end", "loc"].includes(name)) continue;
    if (node.regex && name === "value") continue;
    const isKey = name === "key" && !node.computed && value && value.type === "Literal";
    left[name] = isKey ? { type: "Identifier", name: String(value.value) }
      : name === "value" && node.type === "TemplateElement" ? value.raw.replace(/\r\n/g, "\n")
        : meaning(value);
  }
  return left;
}

const isFunction = (node) =>
  node && ["FunctionExpression", "ArrowFunctionExpression", "ClassExpression"].includes(node.type);
const keyName = (node) => (node.computed ? null
  : node.key.type === "PrivateIdentifier" ? "#" + node.key.name : String(node.key.name ?? node.key.value));

// Store.prototype.load is Store.load, exports.load is load; null for what hangs on a value of its own.
function memberName(node) {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return null;
  if (node.object.type === "Identifier" && node.object.name === "exports") return node.property.name;
  if (node.object.type === "MemberExpression" && memberName(node.object) === "module.exports") return node.property.name;
  const on = memberName(node.object);
  return on && (node.property.name === "prototype" ? on : `${on}.${node.property.name}`);
}

function walk(node, prefix, found) {
  if (Array.isArray(node)) {
    for (const one of node) walk(one, prefix, found);
    return;
  }
  if (!node || typeof node.type !== "string") return;
  let name = null;
  if (["FunctionDeclaration", "ClassDeclaration"].includes(node.type) && node.id) name = node.id.name;
  if (node.type === "MethodDefinition") name = keyName(node);
  if (node.type === "Property" && (node.method || isFunction(node.value))) name = keyName(node);
  if (node.type === "VariableDeclarator" && isFunction(node.init) && node.id.type === "Identifier") name = node.id.name;
  if (node.type === "AssignmentExpression" && isFunction(node.right) && node.left.type === "MemberExpression"
    && !node.left.computed) name = memberName(node.left);
  if (name) {
    found.push([prefix + name, node.loc.start.line, node.loc.end.line, JSON.stringify(meaning(node))]);
  }
  const inner = name ? prefix + name + "." : prefix;
  for (const [key, value] of Object.entries(node)) {
    if (!PLACES.has(key) && value && typeof value === "object") walk(value, inner, found);
  }
}

const answer = {};
for (const [path, text] of Object.entries(texts)) {
  const tree = parse(text);
  answer[path] = null;
  if (tree) {
    walk(tree.body, "", answer[path] = []);
  }
}
process.stdout.write(JSON.stringify(answer));
