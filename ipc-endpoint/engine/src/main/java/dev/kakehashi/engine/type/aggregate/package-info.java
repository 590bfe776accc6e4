/// States of aggregate functions: arrays indexed by group.
@NullMarked
package dev.kakehashi.engine.type.aggregate;

import org.jspecify.annotations.NullMarked;
