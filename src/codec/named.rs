//! Enums whose variants have names in flags, fields and answers.

/// Defines an enum without fields from its variants, each with its name.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $enum:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $enum { $($(#[$variant_meta])* $variant,)+ }

        #[allow(dead_code, reason = "some are never listed")]
        impl $enum {
            /// All variants in their order.
            $vis const ALL: [Self; [$($name,)+].len()] = [$(Self::$variant,)+];

            /// Returns the name in flags, fields and answers.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

pub(crate) use named;
