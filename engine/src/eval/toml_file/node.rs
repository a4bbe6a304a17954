//! One view of values inside arrays and items inside tables, which TOML libraries keep apart.

use std::ops::Range;

use toml_edit::{Array, Item, TableLike, Value};

/// A value or table of the document.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// A value: a number, an array, an inline table.
    Value(&'a Value),
    /// A table with a header, or several under one name.
    Item(&'a Item),
}

impl<'a> From<&'a Item> for Node<'a> {
    fn from(item: &'a Item) -> Self {
        item.as_value().map_or(Self::Item(item), Self::Value)
    }
}

impl<'a> Node<'a> {
    /// The table it is, written in either way.
    pub(super) fn as_table(self) -> Option<&'a dyn TableLike> {
        match self {
            Self::Value(value) => value.as_inline_table().map(|table| table as &dyn TableLike),
            Self::Item(item) => item.as_table_like(),
        }
    }

    /// The array it is.
    pub(super) fn as_array(self) -> Option<&'a Array> {
        match self {
            Self::Value(value) => value.as_array(),
            Self::Item(_) => None,
        }
    }

    /// The integer it is.
    pub(super) fn as_integer(self) -> Option<i64> {
        match self {
            Self::Value(value) => value.as_integer(),
            Self::Item(_) => None,
        }
    }

    /// The number it is, with or without a fraction.
    pub(super) fn as_number(self) -> Option<f64> {
        match self {
            Self::Value(value) => value.as_float().or_else(|| value.as_integer().map(|number| number as f64)),
            Self::Item(_) => None,
        }
    }

    /// The bytes it occupies in the text.
    pub(super) fn span(self) -> Option<Range<usize>> {
        match self {
            Self::Value(value) => value.span(),
            Self::Item(item) => item.span(),
        }
    }

    /// Its type, for a message.
    pub(super) fn describe(self) -> String {
        let Self::Value(value) = self else {
            return match self.as_table() {
                Some(_) => "a table".to_owned(),
                None => "an array of tables".to_owned(),
            };
        };
        match value {
            Value::Integer(number) => number.value().to_string(),
            Value::Float(number) => format!("the float {:?}", number.value()),
            Value::String(string) => format!("the string {:?}", string.value()),
            Value::Boolean(boolean) => format!("the boolean {}", boolean.value()),
            Value::Datetime(datetime) => format!("the date or time {}", datetime.value()),
            Value::Array(array) => format!("an array of {}", array.len()),
            Value::InlineTable(_) => "a table".to_owned(),
        }
    }
}
