//! The macro `params!`, which declares the sums and the parameters.

/// Declares an enum of sums, and a set of parameters that belong to them.
///
/// `S` stands for a (midgame, endgame) pair, `W` for a single number.
///
/// A sum is `Variant = name: S`, or `[S; 2]` if it is sided. The enum comes with a struct `Sums<S, W>` of what has been
/// added up, and with a trait `Accumulate<S, W>`, implemented by every [`Sink`](crate::eval::params::Sink), that has a
/// method `name` for each sum: `sink.name(leaf, count)`, or `sink.name(side, leaf, count)`.
///
/// A field is a leaf or nested arrays of one; a group is `as` a struct, generic over what its members are made of. What
/// follows comes in this order, each where it is wanted:
///
/// * `of` gives the sum, `Main` if nothing else is said;
/// * `by (...)` names the array levels of a field, outermost first;
/// * `=` gives the start of every leaf, 0 if nothing else is said: a number, two for a pair, in parentheses with a sign;
/// * `{ ... }` holds the members of a group;
/// * `in` gives the range of the numbers.
///
/// Doc comment, sum, start and range of a group hold for those members that have none of their own.
///
/// ```text
/// /// What it is, in one sentence: the single description, wherever the field is explained.
/// pub tempo: S = [10, 5] in -100..=100,                                          tempo = [10, 5]
/// pub material: [S; 5] by (Axis::Keys(PIECES_BUT_KING)) in CENTIPAWNS,           [material] pawn = [100, 100] ...
/// pub psqt: [[[S; 8]; 8]; 6] by (Axis::Keys(PIECES), Axis::Board) in CENTIPAWNS, [psqt.pawn] mg = [[...], ...]
/// pub mobility as Mobility<S> {
///     pub knight: [S; 9],                                                        [mobility] knight = [[0, 0], ...]
///     pub bishop: [S; 14],
/// } in CENTIPAWNS,
/// pub phase: [W; 5] of Phase by (Axis::Keys(PIECES_BUT_KING)) in 0..=1000,       [phase] pawn = 0 ...
/// ```
macro_rules! params {
    // Chooses by the leaf a type is made of: pair or scalar.
    (@choose S, $pair:expr, $scalar:expr) => { $pair };
    (@choose W, $pair:expr, $scalar:expr) => { $scalar };
    (@choose [$inner:tt; $length:expr], $pair:expr, $scalar:expr) => { params!(@choose $inner, $pair, $scalar) };

    // The lengths of the array levels of a type, outermost first.
    (@dims [$inner:tt; $length:expr] $($outer:expr)*) => { params!(@dims $inner $($outer)* $length) };
    (@dims $leaf:ident $($length:expr)*) => { &[$($length),*] };

    // The properties of a field or its group: { [doc] [sum] [start] [range] { those of the group around it } }.
    (@doc { [] $sum:tt $start:tt $range:tt $around:tt }) => { params!(@doc $around) };
    (@doc { [$($doc:literal)+] $($rest:tt)+ }) => { &[$($doc),+] };
    (@sum $sums:ident { $doc:tt [] $start:tt $range:tt $around:tt }) => { params!(@sum $sums $around) };
    (@sum $sums:ident { $doc:tt [$sum:ident] $($rest:tt)+ }) => { $sums::$sum as usize };
    (@start { $doc:tt $sum:tt [] $range:tt $around:tt }) => { params!(@start $around) };
    (@start { $doc:tt $sum:tt [[$mg:expr, $eg:expr]] $($rest:tt)+ }) => { [$mg, $eg] };
    (@start { $doc:tt $sum:tt [$both:expr] $($rest:tt)+ }) => { [$both; 2] };
    (@range { $doc:tt $sum:tt $start:tt [] $around:tt }) => { params!(@range $around) };
    (@range { $doc:tt $sum:tt $start:tt [$range:expr] $($rest:tt)+ }) => { $range };

    // The path of a group with the dot behind it, from ((() outer) inner).
    (@path ()) => { "" };
    (@path ($around:tt $name:ident)) => { concat!(params!(@path $around), stringify!($name), ".") };

    // A field, or a group, as data.
    (@part $sums:ident $path:tt $said:tt $name:ident [] as $group:ident [$($generic:ident)+]) => {
        $crate::eval::params::Part::Group($crate::eval::params::Group {
            name: concat!(params!(@path $path), stringify!($name)),
            doc: params!(@doc $said),
            parts: <$group<$($generic),+> as $crate::eval::params::ParamGroup<S, W>>::PARTS,
        })
    };
    (@part $sums:ident $path:tt $said:tt $name:ident [$($axis:expr),*] $type:tt) => {
        $crate::eval::params::Part::Field($crate::eval::params::Field {
            name: concat!(params!(@path $path), stringify!($name)),
            doc: params!(@doc $said),
            kind: params!(@choose $type, $crate::eval::params::Kind::Pair, $crate::eval::params::Kind::Scalar),
            sum: params!(@sum $sums $said),
            dims: params!(@dims $type),
            axes: &[$($axis),*],
            range: params!(@range $said),
            start: params!(@start $said),
        }.checked::<$sums>())
    };

    // The value of a field, or of a group, made of new leaves, and a walk over its leaves.
    (@build $pair:ident $single:ident as $group:ident [$($generic:ident)+]) => {
        <$group<$($generic),+> as $crate::eval::params::ParamGroup<S, W>>::build($pair, $single)
    };
    (@build $pair:ident $single:ident $type:tt) => {
        params!(
            @choose $type,
            $crate::eval::params::Shape::<S>::build($pair),
            $crate::eval::params::Shape::<W>::build($single)
        )
    };
    (@for_each $part:expr, $pair:ident $single:ident as $group:ident $generics:tt) => {
        $crate::eval::params::ParamGroup::<S, W>::for_each($part, $pair, $single)
    };
    (@for_each $part:expr, $pair:ident $single:ident $type:tt) => {
        params!(
            @choose $type,
            $crate::eval::params::Shape::<S>::for_each($part, $pair),
            $crate::eval::params::Shape::<W>::for_each($part, $single)
        )
    };

    // The struct of a group within another, if a part is one.
    (@nested $visibility:vis $sums:ident $path:tt $said:tt [$($doc:literal)*] [] {}) => {};
    (@nested $visibility:vis $sums:ident $path:tt $said:tt [$($doc:literal)+] [$group:ident $generics:tt] $members:tt) => {
        params!(@group $visibility [$($doc)+] $group $generics $sums $path $said $members);
    };

    // The struct of a group.
    (@group $visibility:vis [$($doc:literal)+] $name:ident [$($generic:ident)+] $sums:ident $path:tt $around:tt {
        $(
            $(#[doc = $part_doc:literal])*
            pub $part:ident
            $(: $type:tt)?
            $(as $group:ident<$($group_generic:ident),+>)?
            $(of $sum:ident)?
            $(by ($($axis:expr),+))?
            $(= $start:tt)?
            $({ $($member:tt)+ })?
            $(in $range:expr)?,
        )+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "members share the words of their group")]
        $visibility struct $name<$($generic),+> {
            $($(#[doc = $part_doc])* pub $part: $($type)? $($group<$($group_generic),+>)?,)+
        }

        #[allow(unused_variables, reason = "a group may have leaves of one kind alone")]
        impl<S, W> $crate::eval::params::ParamGroup<S, W> for $name<$($generic),+>
        where
            S: $crate::eval::params::Atom,
            W: $crate::eval::params::Atom,
        {
            const PARTS: &'static [$crate::eval::params::Part] = &[$(params!(
                @part $sums $path
                { [$($part_doc)*] [$($sum)?] [$($start)?] [$($range)?] $around }
                $part [$($($axis),+)?] $($type)? $(as $group [$($group_generic)+])?
            )),+];

            fn build(pair: &mut impl FnMut() -> S, single: &mut impl FnMut() -> W) -> Self {
                Self { $($part: params!(@build pair single $($type)? $(as $group [$($group_generic)+])?),)+ }
            }

            fn for_each(&self, pair: &mut impl FnMut(&S), single: &mut impl FnMut(&W)) {
                $(params!(@for_each &self.$part, pair single $($type)? $(as $group [$($group_generic)+])?);)+
            }
        }

        $(params!(
            @nested $visibility $sums ($path $part)
            { [$($part_doc)*] [$($sum)?] [$($start)?] [$($range)?] $around }
            [$($part_doc)*] [$($group [$($group_generic)+])?] { $($($member)+)? }
        );)+
    };

    // One sum: whether it is sided, its place in `Sums`, that place made anew, and the method of a sink.
    (@is_sided [$leaf:ident; 2]) => { true };
    (@is_sided $leaf:ident) => { false };
    (@place S $place:expr, $side:ident S) => { &mut $place };
    (@place W $place:expr, $side:ident W) => { &mut $place };
    (@place S $place:expr, $side:ident [S; 2]) => { &mut $place[$side.index()] };
    (@place W $place:expr, $side:ident [W; 2]) => { &mut $place[$side.index()] };
    (@place S $place:expr, $side:ident $other:tt) => { unreachable!("a sum of single numbers takes no pair") };
    (@place W $place:expr, $side:ident $other:tt) => { unreachable!("a sum of pairs takes no single number") };
    (@each $make:expr, $sum:expr, [$leaf:ident; 2]) => { $crate::chess::Color::ALL.map(|side| $make($sum, side)) };
    (@each $make:expr, $sum:expr, $leaf:ident) => { $make($sum, $crate::chess::Color::White) };
    (@map $map:expr, $place:expr, [$leaf:ident; 2]) => { $place.map($map) };
    (@map $map:expr, $place:expr, $leaf:ident) => { $map($place) };
    (@method $sums:ident $sum:ident $name:ident [$($doc:literal)+] [$leaf:ident; 2]) => {
        $(#[doc = $doc])+
        #[inline(always)]
        fn $name(&mut self, side: $crate::chess::Color, leaf: $leaf, count: i32) {
            params!(@choose $leaf, self.pair($sums::$sum, side, leaf, count), self.single($sums::$sum, side, leaf, count));
        }
    };
    (@method $sums:ident $sum:ident $name:ident [$($doc:literal)+] $leaf:ident) => {
        $(#[doc = $doc])+
        #[inline(always)]
        fn $name(&mut self, leaf: $leaf, count: i32) {
            let side = $crate::chess::Color::White;
            params!(@choose $leaf, self.pair($sums::$sum, side, leaf, count), self.single($sums::$sum, side, leaf, count));
        }
    };

    // The sums.
    (@sums $visibility:vis [$($doc:literal)+] $sums:ident {
        $([$($sum_doc:literal)+] $sum:ident $name:ident $held:tt)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $sums { $($(#[doc = $sum_doc])+ $sum),+ }

        impl $crate::eval::params::SumSet for $sums {
            const ALL: &'static [Self] = &[$($sums::$sum),+];
            const INFO: &'static [$crate::eval::params::SumInfo] = &[$($crate::eval::params::SumInfo {
                name: stringify!($name),
                doc: &[$($sum_doc),+],
                kind: params!(@choose $held, $crate::eval::params::Kind::Pair, $crate::eval::params::Kind::Scalar),
                is_sided: params!(@is_sided $held),
            }),+];

            fn index(self) -> usize {
                self as usize
            }
        }

        /// The sums of the terms of an evaluation; sided sums by [`Color`](crate::chess::Color).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility struct Sums<S, W> { $($(#[doc = $sum_doc])+ pub $name: $held),+ }

        #[allow(clippy::redundant_closure_call, reason = "sums of one kind may be few")]
        impl<S, W> Sums<S, W> {
            /// Makes each of the sums, in order; in an unsided one the side is White.
            $visibility fn from_fn(
                mut pair: impl FnMut($sums, $crate::chess::Color) -> S,
                mut single: impl FnMut($sums, $crate::chess::Color) -> W,
            ) -> Self {
                Sums { $($name: params!(@choose $held,
                    params!(@each pair, $sums::$sum, $held),
                    params!(@each single, $sums::$sum, $held))),+ }
            }

            /// The same sums of other numbers.
            #[inline(always)]
            $visibility fn map<T, U>(self, mut pair: impl FnMut(S) -> T, mut single: impl FnMut(W) -> U) -> Sums<T, U> {
                Sums { $($name: params!(@choose $held,
                    params!(@map &mut pair, self.$name, $held),
                    params!(@map &mut single, self.$name, $held))),+ }
            }
        }

        #[allow(unused_variables, reason = "an unsided sum takes both sides alike")]
        impl<S, W> $crate::eval::params::Sink<$sums, S, W> for Sums<S, W>
        where
            S: $crate::eval::params::Term,
            W: $crate::eval::params::Term,
        {
            #[inline(always)]
            fn pair(&mut self, sum: $sums, side: $crate::chess::Color, leaf: S, count: i32) {
                let place: &mut S = match sum { $($sums::$sum => params!(@place S self.$name, side $held)),+ };
                *place += leaf * count;
            }

            #[inline(always)]
            fn single(&mut self, sum: $sums, side: $crate::chess::Color, leaf: W, count: i32) {
                let place: &mut W = match sum { $($sums::$sum => params!(@place W self.$name, side $held)),+ };
                *place += leaf * count;
            }
        }

        /// Takes the terms of an evaluation: a leaf of each sum, and how often it counts.
        ///
        /// In an unsided sum, counts are in White's view: a term of Black's comes with a negative one. In a sided sum, the
        /// side comes first.
        $visibility trait Accumulate<S, W>: $crate::eval::params::Sink<$sums, S, W> {
            $(params!(@method $sums $sum $name [$($sum_doc)+] $held);)+
        }

        impl<S, W, T: $crate::eval::params::Sink<$sums, S, W>> Accumulate<S, W> for T {}
    };

    // The declaration.
    (
        $(#[doc = $sums_doc:literal])+
        $sums_visibility:vis enum $sums:ident {
            $($(#[doc = $sum_doc:literal])+ $sum:ident = $sum_name:ident: $held:tt,)+
        }

        $(#[doc = $doc:literal])+
        $visibility:vis struct $name:ident<S, W> $parts:tt
    ) => {
        params!(@sums $sums_visibility [$($sums_doc)+] $sums { $([$($sum_doc)+] $sum $sum_name $held)+ });
        params!(@group $visibility [$($doc)+] $name [S W] $sums () { [] [Main] [0] [] {} } $parts);

        impl<S, W> $crate::eval::params::ParamSet for $name<S, W>
        where
            S: $crate::eval::params::Atom,
            W: $crate::eval::params::Atom,
        {
            type Pair = S;
            type Single = W;
            type Sum = $sums;
        }
    };
}
