//! Which nodes of a grammar's tree define symbols, and what belongs to a definition before its first word.

/// Of one language.
#[derive(Debug)]
pub(super) struct Shape {
    /// Kinds of nodes that define a symbol.
    pub(super) definitions: &'static [&'static str],
    /// Of these, the ones whose inside is only what they do: a map does not look into them.
    pub(super) bodies: &'static [&'static str],
    /// Kinds of nodes that hold symbols and are none, with the field that names them.
    pub(super) holders: &'static [(&'static str, &'static str)],
    /// Kinds of nodes round a definition that a new text may bring along or leave out.
    pub(super) wrappers: &'static [&'static str],
    /// Kinds of attributes that stand before a definition, and how they begin.
    pub(super) attributes: (&'static [&'static str], &'static str),
    /// How comments begin.
    pub(super) comments: &'static [&'static str],
    /// Whether indentation tells where a block ends.
    pub(super) indented: bool,
}

const SLASHES: &[&str] = &["//", "/*"];
const HASH: &[&str] = &["#"];

impl Shape {
    pub(super) const NONE: Self = Self {
        definitions: &[],
        bodies: &[],
        holders: &[],
        wrappers: &[],
        attributes: (&[], "\0"),
        comments: &[],
        indented: false,
    };

    pub(super) const RUST: Self = Self {
        definitions: &[
            "const_item",
            "enum_item",
            "function_item",
            "function_signature_item",
            "macro_definition",
            "mod_item",
            "static_item",
            "struct_item",
            "trait_item",
            "type_item",
            "union_item",
        ],
        bodies: &["const_item", "enum_item", "function_item", "macro_definition", "static_item", "struct_item"],
        holders: &[("impl_item", "type")],
        attributes: (&["attribute_item"], "#["),
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const PYTHON: Self = Self {
        definitions: &["class_definition", "function_definition"],
        bodies: &["function_definition"],
        wrappers: &["decorated_definition"],
        comments: HASH,
        indented: true,
        ..Self::NONE
    };

    pub(super) const JAVASCRIPT: Self = Self {
        definitions: &[
            "abstract_class_declaration",
            "class_declaration",
            "enum_declaration",
            "field_definition",
            "function_declaration",
            "generator_function_declaration",
            "interface_declaration",
            "internal_module",
            "method_definition",
            "public_field_definition",
            "type_alias_declaration",
            "variable_declarator",
        ],
        bodies: &[
            "enum_declaration",
            "field_definition",
            "function_declaration",
            "generator_function_declaration",
            "interface_declaration",
            "method_definition",
            "public_field_definition",
            "type_alias_declaration",
            "variable_declarator",
        ],
        wrappers: &["ambient_declaration", "export_statement", "lexical_declaration", "variable_declaration"],
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const GO: Self = Self {
        definitions: &[
            "const_spec",
            "function_declaration",
            "method_declaration",
            "type_alias",
            "type_spec",
            "var_spec",
        ],
        bodies: &["const_spec", "function_declaration", "method_declaration", "type_alias", "type_spec", "var_spec"],
        wrappers: &["const_declaration", "type_declaration", "var_declaration"],
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const JAVA: Self = Self {
        definitions: &[
            "annotation_type_declaration",
            "class_declaration",
            "constructor_declaration",
            "enum_declaration",
            "interface_declaration",
            "method_declaration",
            "record_declaration",
        ],
        bodies: &["constructor_declaration", "method_declaration"],
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const C: Self = Self {
        definitions: &[
            "enum_specifier",
            "function_definition",
            "preproc_def",
            "preproc_function_def",
            "struct_specifier",
            "type_definition",
            "union_specifier",
        ],
        bodies: &["enum_specifier", "function_definition", "struct_specifier", "type_definition", "union_specifier"],
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const CPP: Self = Self {
        definitions: &[
            "alias_declaration",
            "class_specifier",
            "enum_specifier",
            "function_definition",
            "namespace_definition",
            "preproc_def",
            "preproc_function_def",
            "struct_specifier",
            "type_definition",
            "union_specifier",
        ],
        bodies: &["enum_specifier", "function_definition", "type_definition"],
        wrappers: &["template_declaration"],
        comments: SLASHES,
        ..Self::NONE
    };

    pub(super) const RUBY: Self = Self {
        definitions: &["class", "method", "module", "singleton_method"],
        bodies: &["method", "singleton_method"],
        comments: HASH,
        ..Self::NONE
    };

    pub(super) const BASH: Self =
        Self { definitions: &["function_definition"], bodies: &["function_definition"], comments: HASH, ..Self::NONE };
}
