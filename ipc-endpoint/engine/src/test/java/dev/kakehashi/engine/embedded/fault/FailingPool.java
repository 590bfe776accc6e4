package dev.kakehashi.engine.embedded.fault;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.memory.MemoryPool;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/// Makes the class of the store's memory one whose allocations ask [FailedAllocations] first, and throw what they throw at the limit. So
/// the product has no hook for tests.
final class FailingPool {
  private static final ClassDesc POOL = MemoryPool.class.describeConstable().orElseThrow();
  private static final ClassDesc ALLOCATIONS =
      FailedAllocations.class.describeConstable().orElseThrow();
  private static final MethodTypeDesc FULL =
      MethodTypeDesc.of(
          EngineException.class.describeConstable().orElseThrow(), ConstantDescs.CD_long);

  private FailingPool() {}

  /// @param directory gets the class, to stand before the others in a class path
  /// @return methods that allocate
  static int write(Path directory) throws IOException {
    String name = MemoryPool.class.getName().replace('.', '/') + ".class";
    byte[] bytes;
    try (InputStream in =
        Objects.requireNonNull(MemoryPool.class.getClassLoader().getResourceAsStream(name))) {
      bytes = in.readAllBytes();
    }
    ClassFile classFile = ClassFile.of();
    ClassModel pool = classFile.parse(bytes);
    byte[] failing =
        classFile.transformClass(
            pool, ClassTransform.transformingMethodBodies(FailingPool::allocates, new AskFirst()));
    Path target = directory.resolve(name);
    Files.createDirectories(Objects.requireNonNull(target.getParent()));
    Files.write(target, failing);
    return (int) pool.methods().stream().filter(FailingPool::allocates).count();
  }

  private static boolean allocates(MethodModel method) {
    return method.methodName().stringValue().startsWith("allocate")
        && !method.flags().has(AccessFlag.PRIVATE);
  }

  /// `if (FailedAllocations.fails()) throw full(0);`
  private static final class AskFirst implements CodeTransform {
    @Override
    public void atStart(CodeBuilder code) {
      Label goesOn = code.newLabel();
      code.invokestatic(ALLOCATIONS, "fails", MethodTypeDesc.of(ConstantDescs.CD_boolean))
          .ifeq(goesOn)
          .aload(0)
          .lconst_0()
          .invokevirtual(POOL, "full", FULL)
          .athrow()
          .labelBinding(goesOn);
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      code.with(element);
    }
  }
}
