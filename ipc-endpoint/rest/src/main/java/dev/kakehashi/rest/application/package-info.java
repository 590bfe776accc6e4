/// Native applications: their own routes below `/v1/apps`, and their deployment.
@NullMarked
package dev.kakehashi.rest.application;

import org.jspecify.annotations.NullMarked;
