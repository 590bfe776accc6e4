/// Jars as bytes, and the class loader and modules of a version.
@NullMarked
package dev.kakehashi.applications.jar;

import org.jspecify.annotations.NullMarked;
