//! The options that an engine declares, and the values that they take.

use super::bounds::LONGEST_TEXT;

/// An option that an engine has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EngineOption {
    pub(super) name: String,
    /// The least and the greatest value, if the engine declares them.
    pub(super) range: Option<[f64; 2]>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Check,
    Spin,
    /// One of these words.
    Combo(Vec<String>),
    Button,
    /// A text, or a type that UCI does not know.
    Text,
}

impl EngineOption {
    /// The option in `option name NAME type …`; the name may have spaces. One that is too long to be kept is none.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("option name ")?;
        let (name, rest) = rest.split_once(" type ")?;
        let name = name.trim();
        if name.len() > LONGEST_TEXT {
            return None;
        }
        let number = |key: &str| {
            let mut words = rest.split_ascii_whitespace();
            words.find(|word| *word == key)?;
            words.next()?.parse::<f64>().ok().filter(|value| value.is_finite())
        };
        let range = number("min").zip(number("max")).map(|(min, max)| [min, max]);
        let kind = match rest.split_ascii_whitespace().next() {
            Some("check") => Kind::Check,
            Some("spin") => Kind::Spin,
            Some("button") => Kind::Button,
            Some("combo") => Kind::Combo(rest.split(" var ").skip(1).map(|value| value.trim().to_owned()).collect()),
            _ => Kind::Text,
        };
        Some(EngineOption { name: name.to_owned(), range, kind })
    }

    /// The command that sets it, without its end; or what it takes instead of such a value.
    pub(super) fn command(&self, value: &str) -> Result<String, String> {
        if value.contains(char::is_control) {
            return Err("text without control characters".to_owned());
        }
        let name = &self.name;
        let value = match &self.kind {
            Kind::Button if value.is_empty() => return Ok(format!("setoption name {name}")),
            Kind::Button => return Err("a button, which takes no value".to_owned()),
            Kind::Check => ["true", "false"]
                .into_iter()
                .find(|known| known.eq_ignore_ascii_case(value))
                .ok_or_else(|| "true or false".to_owned())?,
            Kind::Spin => {
                let number = value.parse().ok().filter(|number: &i64| self.has(*number as f64));
                let range = self.range.map_or_else(String::new, |[min, max]| format!(" from {min} to {max}"));
                number.map(|_| value).ok_or_else(|| format!("a whole number{range}"))?
            }
            Kind::Combo(known) if !known.is_empty() => {
                let found = known.iter().find(|known| known.eq_ignore_ascii_case(value));
                found.ok_or_else(|| format!("one of {}", known.join(", ")))?
            }
            Kind::Combo(_) | Kind::Text => value,
        };
        Ok(format!("setoption name {name} value {value}"))
    }

    fn has(&self, number: f64) -> bool {
        self.range.is_none_or(|[min, max]| (min..=max).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_names_may_have_spaces() {
        let found = |line: &str| EngineOption::parse(line).map(|option| (option.name, option.range));
        let name = "Move Overhead".to_owned();
        assert_eq!(found("option name Move Overhead type spin default 10"), Some((name.clone(), None)));
        let line = "option name Move Overhead type spin default 10 min -5 max 5000\n";
        assert_eq!(found(line), Some((name, Some([-5.0, 5000.0]))));
        assert_eq!(found("option name x"), None);
        assert_eq!(found(&format!("option name {} type button", "x".repeat(LONGEST_TEXT + 1))), None);
        assert_eq!(found("id name x type y"), None);
    }

    #[test]
    fn values_are_those_that_the_engine_declares() {
        let command = |kind: &str, value: &str| {
            EngineOption::parse(&format!("option name A b type {kind}")).unwrap().command(value)
        };
        let combo = "combo default Very Solid var Very Solid var Risky";
        for (kind, value, sent) in [
            ("spin default 1 min 1 max 99", "99", " value 99"),
            ("spin default 1", "-7", " value -7"),
            ("check default true", "False", " value false"),
            (combo, "very solid", " value Very Solid"),
            ("button", "", ""),
            ("string default <empty>", "a b", " value a b"),
        ] {
            assert_eq!(command(kind, value), Ok(format!("setoption name A b{sent}")), "{kind}");
        }
        for (kind, value, expected) in [
            ("spin default 1 min 1 max 99", "5000", "a whole number from 1 to 99"),
            ("spin default 1 min 1 max 99", "many", "a whole number from 1 to 99"),
            ("spin default 1", "1.5", "a whole number"),
            ("check default true", "maybe", "true or false"),
            (combo, "wild", "one of Very Solid, Risky"),
            ("button", "1", "a button, which takes no value"),
            ("string default <empty>", "a\nquit", "text without control characters"),
        ] {
            assert_eq!(command(kind, value), Err(expected.to_owned()), "{kind}");
        }
    }
}
