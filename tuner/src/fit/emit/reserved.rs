//! Words that are no names.

use super::Language;

/// Keywords of C23 and of its dialects, and what compilers take for more than a name.
const C: &str = "alignas alignof asm auto bool break case char const constexpr continue default do double else enum \
    extern false float for fortran goto if inline int long main nullptr register restrict return short signed sizeof \
    static static_assert struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile \
    while _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary \
    _Noreturn _Static_assert _Thread_local linux unix";

/// Keywords of C++23, and what compilers take for more than a name.
const CPP: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t \
    class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype \
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int \
    long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register \
    reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch template \
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while \
    xor xor_eq linux unix";

/// Keywords of C#, and the class that all names are in.
const CSHARP: &str = "abstract as base bool break byte case catch char checked class const continue decimal default \
    delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int \
    interface internal is lock long namespace new null object operator out override params private protected public \
    readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof \
    uint ulong unchecked unsafe ushort using virtual void volatile while Parameters";

/// Names are in capitals: no keyword is, and this is no name at all.
const RUST: &str = "_";

/// Whether a word means something in a language, so that nothing can be called so.
pub(super) fn is_reserved(language: Language, name: &str) -> bool {
    let words = match language {
        Language::Toml | Language::Json => "",
        Language::C => C,
        Language::Cpp => CPP,
        Language::Csharp => CSHARP,
        Language::Rust => RUST,
    };
    words.split_ascii_whitespace().any(|word| word == name)
}
