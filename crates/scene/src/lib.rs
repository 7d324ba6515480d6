//! Scenes and problems: files to typed descriptions, with errors that name the line and the fix.
