/// Native applications: users' own Java inside the endpoint, its jars and versions, and where its code runs. The way in is
/// `NativeApplications`, from any thread.
///
/// Users' code is a stranger here: calls, functions and steps run where the watch sees them, and their exceptions become errors of texts.
/// Its classes are held by objects that belong to a version and go with it, so that they can be unloaded. No static field and no exception
/// may keep one.
///
/// | package | may use |
/// |---|---|
/// | `watch`, `link` | no other |
/// | `type`, `jar` | refusals and defaults of the root |
/// | `table`, `function`, then `define` | those, and `type` |
/// | `process`, `call`, `handler` | those above, but `jar` |
/// | `version` | all above, but `link` |
/// | `remote`, `child` | `link`, `watch`; never each other |
@NullMarked
package dev.kakehashi.applications;

import org.jspecify.annotations.NullMarked;
