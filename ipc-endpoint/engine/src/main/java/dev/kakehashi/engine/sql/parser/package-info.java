/// From tokens to statements: those with rows are cut into pieces for Calcite's parser, definitions are read here.
@NullMarked
package dev.kakehashi.engine.sql.parser;

import org.jspecify.annotations.NullMarked;
