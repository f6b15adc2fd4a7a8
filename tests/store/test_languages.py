"""Which names each language's files define, from declarations of every form that anchors are likely to point at."""

from __future__ import annotations

import subprocess
import sys

import pytest

from remvault.store.languages import LANGUAGES, kindred, language_of
from remvault.store.outlines import outline

# A file, and the names of its definitions in the order of lines and then names.
FILES = {
    "python": (
        "a.py",
        """
x: int
y = z = 1
(a, b), [c, d] = one, two
f = lambda q: q
type Al[T] = int
A.attr = 3
try:
    j = 1
except ImportError:
    j = None
class C(metaclass=M):
    x: int = 1
    def f(self):
        self.y = local = 1
    @property
    def p(self): ...
    @p.setter
    def p(self, v): ...
    class D:
        async def g(self):
            def h(): ...
            class E: ...
if True:
    def cond(): ...
def gen[T](x: T): ...
""",
        "x y z f Al j j C C.x C.f C.p C.p C.D C.D.g C.D.g.h C.D.g.E cond gen",
    ),
    "javascript": (
        "a.js",
        """
export default function () {}
function Old() { this.go = function () {}; this.x = 1; const inner = () => {}; }
Old.prototype = { render() {} };
Old.prototype.late = function () {};
Old.fixed = () => {};
var e = 1, f = function () {};
const K = class Named { z() {} };
module.exports = { one() {}, two: () => 1, three: function () {}, four };
exports.five = async () => {};
export { six } from './x';
class A extends B {
  static s = 1;
  #p() {}
  get g() { return 1; }
  async *gen() {}
  'quoted'() {}
}
const o = { get z() { return 1; }, nested: { deep() {} } };
if (x) { function cond() {} }
""",
        "default Old Old.go Old.inner Old.prototype Old.render Old.late Old.fixed e f K K.z module.exports one three"
        " two five A A.s A.#p A.g A.gen A.quoted o o.deep o.z cond",
    ),
    "typescript": (
        "a.ts",
        """
declare module 'm' { export function g(): void }
export declare const D: number;
export type T<X> = { a: X; m(): void };
export enum E { A, B = 2 }
abstract class K<T> implements I {
  private readonly p: string = 'a';
  abstract ab(): void;
  over(a: string): void;
  over(a: any) {}
  static async s<T>(): Promise<T> { return null }
}
function ov(a: string): void;
function ov(a: any) {}
namespace N.M { export const x = 1; }
export interface I { call(): void; readonly r: number }
export const fn = <T,>(x: T) => x;
""",
        "m m.g D T T.a T.m E K K.p K.ab K.over K.over K.s ov ov N.M N.M.x I I.call I.r fn",
    ),
    "tsx": (
        "a.tsx",
        "export default function App({ a }: P) { const cb = useCallback(() => {}); return <div /> }\n"
        "export const C = memo(({ a }) => <a />);\n",
        "App C",
    ),
    "go": (
        "a.go",
        """package p
const ( A = iota; B )
var X, Y int = 1, 2
type S struct { Emb; n int }
type I interface { M(x int) error }
type ( T1 int; T2 = string )
func F[T any](x T) T { var l = 1; type inner struct{}; return x }
func (s *S) M() {}
func (S) N() {}
func (s *G[K, V]) O() {}
""",
        "A B X Y S S.Emb S.n I I.M T1 T2 F F.inner S.M S.N G.O",
    ),
    "rust": (
        "a.rs",
        """
mod m { pub mod n { struct X; } }
pub struct T(i32, u8);
impl<T: Clone> Tr<T> for Vec<T> where T: Copy { type Out = T; const C: i32 = 1; fn g() {} }
impl fmt::Display for a::B { fn fmt(&self) {} }
impl dyn Trait { fn d() {} }
impl Trait for &'a str { fn s() {} }
enum E { A, B(i32), C { x: i32 } }
trait Tr { type O; const K: i32; fn r(&self); fn given(&self) {} }
static mut G: i32 = 1;
macro_rules! mac { () => {} }
fn outer() { fn inner() {} const L: i32 = 1; let c = |x| x; }
extern "C" { fn ext(x: i32); }
""",
        "m m.n m.n.X T Vec.C Vec.Out Vec.g a.B.fmt Trait.d str.s E E.A E.B E.C E.C.x Tr Tr.K Tr.O Tr.given Tr.r G mac"
        " outer outer.inner ext",
    ),
    "java": (
        "A.java",
        """package a.b;
interface I<T> { int K = 1; void m(); default void d() {} }
abstract class A {
  A(int x) { class Local { void lm() {} } int loc = 1; }
  int a, b[];
  enum E { P { void q() {} }, Q; int f; }
  @interface An { int v() default 1; }
  record R(int x) { static int z; }
  <T> void g() {}
}
""",
        "I I.K I.d I.m A A.A A.A.Local A.A.Local.lm A.a A.b A.E A.E.P A.E.P.q A.E.Q A.E.f A.An A.R A.R.z A.g",
    ),
    "c": (
        "a.c",
        """
#define M 1
#define F(x) (x)
typedef struct node { struct node *next; } node_t;
typedef int (*cb)(int), *ip;
enum e { A, B = 2 };
static const int arr[] = {1, 2}, *p = 0;
int (*fp)(int) = 0;
struct s { int a, *b; unsigned bit : 3; } glob;
struct later;
int proto(struct s *x);
static inline int at(struct s *a) { int loc; return 0; }
""",
        "M F node node.next node_t cb ip e e.A e.B arr p fp glob s s.a s.b s.bit proto at",
    ),
    "cpp": (
        "a.cpp",
        """
namespace a { namespace { int hidden; } inline namespace v1 { void f(); } }
namespace a::b {
class C final : public D {
 public:
  explicit C(int);
  ~C();
  int operator+(const C&) const;
  template <class T> void t();
  enum class E { X };
  struct In { void r() {} };
  using Al = int;
};
}
int a::b::C::late(int y) { return y; }
template <> struct Sp<int> { void m() {} };
auto lam = [](int x) { return x; };
template <typename T> concept Co = true;
void over(int) {}
void over(double) {}
""",
        "a a.hidden a.v1 a.v1.f a.b a.b.C a.b.C.C a.b.C.~C a.b.C.operator+ a.b.C.t a.b.C.E a.b.C.E.X a.b.C.In"
        " a.b.C.In.r a.b.C.Al a.b.C.late Sp Sp.m lam Co over over",
    ),
    "csharp": (
        "A.cs",
        """
namespace N.M {
  public partial class C<T> : B where T : new() {
    const int K = 1;
    public int P { get; set; } = 1;
    public C(int x) : base(x) {}
    event Action E;
    delegate void D(int x);
    enum En { A, B = 2 }
    interface I { void M(); }
    record R(int X) { int Y; }
    void G<U>() { void Local() {} int loc = 1; }
  }
}
""",
        "N.M N.M.C N.M.C.K N.M.C.P N.M.C.C N.M.C.E N.M.C.D N.M.C.En N.M.C.En.A N.M.C.En.B N.M.C.I N.M.C.I.M N.M.C.R"
        " N.M.C.R.Y N.M.C.G N.M.C.G.Local",
    ),
    "ruby": (
        "a.rb",
        """
module A::B
  VERSION = '1'
  class C < D
    X, Y = 1, 2
    def initialize(a); @a = a; local = 1; end
    def self.s; end
    class << self
      def t; end
    end
    def op?; end
    def set=(v); end
    private def hidden; end
  end
end
""",
        "A.B A.B.VERSION A.B.C A.B.C.X A.B.C.Y A.B.C.initialize A.B.C.s A.B.C.t A.B.C.op? A.B.C.set= A.B.C.hidden",
    ),
    "php": (
        "a.php",
        """<?php
namespace A\\B;
const K = 1;
abstract class C extends D {
  const X = 1, Z = 2;
  public static ?int $a = 1, $b;
  abstract function ab();
  static function s() { $c = function () {}; }
}
interface I { const IC = 1; function im(); }
trait T { private $tp; }
enum E: string { case A = 'a'; }
if (!function_exists('g')) { function g() {} }
""",
        "A.B K C C.X C.Z C.a C.b C.ab C.s I I.IC I.im T T.tp E E.A g",
    ),
    "bash": (
        "a.sh",
        """
X=1
export Y=2
declare -r Z=3
f() { local a=1; b=2; inner() { :; }; }
function g { :; }
if true; then k-k() { :; }; fi
""",
        "X Y Z f f.inner g k-k",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_of_a_language_defines(name: str) -> None:
    path, text, names = FILES[name]

    found = outline(path, text.encode())

    assert found.language == name
    assert [one.name for one in found.definitions] == names.split()


def test_every_language_has_a_file_here() -> None:
    assert set(FILES) == {language.name for language in LANGUAGES}


@pytest.mark.parametrize("name", FILES)
def test_definitions_lie_in_the_lines_that_they_say(name: str) -> None:
    path, text, _ = FILES[name]
    lines = text.split("\n")

    for one in outline(path, text.encode()).definitions:
        held = "\n".join(lines[one.lines[0] - 1 : one.lines[1]])
        last = one.name.rpartition(".")[2]
        assert last in held, f"{one.name} is not in lines {one.lines}"


def test_what_belongs_to_a_definition_is_in_its_lines() -> None:
    found = outline("a.py", b"\n@one\n@two(\n  3)\n# why\ndef f(): pass\n").definitions
    assert [one.lines for one in found] == [(2, 6)]
    found = outline("a.rs", b"#[one]\n/// why\n#[two]\nfn f() {}\n#[three]\nfn g() {}\n").definitions
    assert [one.lines for one in found] == [(1, 4), (5, 6)]
    found = outline("a.ts", b"class A {\n  @one()\n  @two\n  m() {}\n  n() {}\n}\n").definitions
    assert [one.lines for one in found] == [(1, 6), (2, 4), (5, 5)]


def test_what_belongs_to_a_definition_is_in_its_digest() -> None:
    pairs = [
        ("a.py", "@one\ndef f(): pass\n", "def f(): pass\n"),
        ("a.rs", "#[one]\nfn f() {}\n", "fn f() {}\n"),
        ("a.ts", "class A { @one() f() {} }", "class A { f() {} }"),
        ("A.java", "class A { @One int f() { return 1; } }", "class A { int f() { return 1; } }"),
        ("A.cs", "class A { [One] int f() { return 1; } }", "class A { int f() { return 1; } }"),
        ("a.php", "<?php #[One]\nfunction f() {}", "<?php function f() {}"),
    ]
    for path, with_it, without in pairs:
        digests = {one.digest for text in (with_it, without) for one in outline(path, text.encode()).named("f")}
        assert len(digests) == 2, path


@pytest.mark.parametrize(
    ("path", "data", "language"),
    [
        ("A.PY", b"", "python"),
        ("a.mjs", b"", "javascript"),
        ("a.cts", b"", "typescript"),
        ("a.h", b"int f(void);\n", "c"),
        ("a.h", b"class A {\n};\n", "cpp"),
        ("a.hpp", b"", "cpp"),
        ("a.txt", b"#!/bin/sh\n", None),
        ("run", b"#!/usr/bin/env -S python3.12 -u\n", "python"),
        ("run", b"#!/bin/dash\n", "bash"),
        ("run", b"#!\n", None),
        ("run", b"", None),
        (".bashrc", b"", None),
    ],
)
def test_a_language_is_known_by_suffix_or_first_line(path: str, data: bytes, language: str | None) -> None:
    found = language_of(path, data)

    assert (found.name if found else None) == language


def test_code_may_move_between_files_of_one_language() -> None:
    assert ".jsx" in kindred("a.js")
    assert ".cpp" in kindred("a.h")
    assert kindred("a.txt") == (".txt",)


def test_only_the_grammar_of_the_file_is_loaded() -> None:
    asked = "import sys\nfrom remvault.store.outlines import outline\n"
    loaded = "print(*sorted(name for name in sys.modules if name.startswith('tree_sitter')), sep=',')\n"

    def modules(code: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", asked + code + loaded], capture_output=True, text=True, check=True)
        return [name for name in done.stdout.strip().split(",") if name and "._" not in name]

    assert modules("outline('a.txt', b'x')\n") == []
    assert modules("outline('a.go', b'package p')\n") == ["tree_sitter", "tree_sitter_go"]
