package dev.kakehashi.tck.cases;

import dev.kakehashi.protocol.capability.Capability;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Capabilities that an engine needs for a case. If it says that it lacks one, the case is replaced: the engine has to refuse what it
/// lacks.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface NeedsCapability {
  Capability[] value();
}
