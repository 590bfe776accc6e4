/// A disk that loses power: what a program has changed below a directory is written down, and made again as a loss of power leaves it.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.engine.testing.disk;
