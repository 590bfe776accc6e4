@org.jspecify.annotations.NullMarked
package dev.kakehashi.engine.expr;
