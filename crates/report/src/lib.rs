//! What a run leaves behind: tables, arrays and a page with plots.
