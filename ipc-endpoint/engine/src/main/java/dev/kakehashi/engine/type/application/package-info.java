/// Functions of native applications as functions of SQL, and values as their objects.
@NullMarked
package dev.kakehashi.engine.type.application;

import org.jspecify.annotations.NullMarked;
