package dev.kakehashi.pgtests.container;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIf;

/// The tests of a class and of its subclasses are skipped where no Docker daemon answers. JUnit's own annotation is not
/// inherited: on an abstract class it alone says nothing about those that run.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@EnabledIf(
    value = "dev.kakehashi.pgtests.container.Docker#available",
    disabledReason = "no Docker daemon answers")
@interface NeedsDocker {}
