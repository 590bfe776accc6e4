/// Native applications: what users' own Java inside the endpoint offers, its jars and versions, and where its code runs.
@NullMarked
package dev.kakehashi.applications;

import org.jspecify.annotations.NullMarked;
