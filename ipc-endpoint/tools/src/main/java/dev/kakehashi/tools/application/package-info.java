/// Native applications: deployment, versions, what they have done.
@NullMarked
package dev.kakehashi.tools.application;

import org.jspecify.annotations.NullMarked;
