package dev.kakehashi.sharedmemory;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.CancelTransactionDecoder;
import dev.kakehashi.protocol.messages.CommitDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.PingDecoder;
import dev.kakehashi.requests.ClientRequests;
import dev.kakehashi.requests.RequestClient;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.RequestHandler;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// The interface for shared memory: each frame becomes a call of [RequestCore], or waits until its session takes it.
///
/// The poller brings the requests of a session in the order of its queue. Prepare and the first Execute may be sent together: what follows
/// a Prepare waits for it. Cancel, CancelTransaction and Ping overtake.
public final class SharedMemoryRequests implements RequestHandler {
  private final TransportEndpoint endpoint;
  private final RequestCore core;
  private final StatementFrames statements;
  private final InvokeFrames invocations;
  private final TransactionFrames transactions;

  /// By template; null: no request has it.
  private final @Nullable FrameHandler[] handlers;

  // Flyweight of the poller.
  private final PingDecoder ping = new PingDecoder();

  /// @param endpoint not used before it has started
  public SharedMemoryRequests(TransportEndpoint endpoint, RequestCore core) {
    this.endpoint = endpoint;
    this.core = core;
    this.statements = new StatementFrames(core, endpoint.config());
    this.invocations = new InvokeFrames(core, endpoint.config());
    this.transactions = new TransactionFrames(core);
    Map<Integer, FrameHandler> byTemplate = new HashMap<>(statements.handlers());
    byTemplate.put(InvokeDecoder.TEMPLATE_ID, invocations::invoke);
    byTemplate.putAll(transactions.handlers());
    byTemplate.putAll(new ClientFrames(endpoint.config()).handlers());
    int last = byTemplate.keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
    this.handlers = new FrameHandler[last + 1];
    byTemplate.forEach((template, handler) -> handlers[template] = handler);
    core.addClients(this::forEachClient);
  }

  private void forEachClient(BiConsumer<RequestClient, @Nullable ClientRequests> each) {
    for (EndpointSession session : endpoint.sessions()) {
      if (session.attachment() instanceof SharedMemorySession known) {
        each.accept(known.requests().client(), known.requests());
      } else {
        each.accept(new SharedMemoryClient(session), null);
      }
    }
  }

  @Override
  public void request(
      EndpointSession endpointSession,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame) {
    SlotResponse response = SlotResponse.of(channel, requestId);
    if (templateId == PingDecoder.TEMPLATE_ID) {
      ping(response, frame);
      return;
    }
    SharedMemorySession session = session(endpointSession);
    if (templateId == CancelDecoder.TEMPLATE_ID) {
      long target = Frames.wrap(new CancelDecoder(), frame).targetRequestId();
      core.cancellations().cancel(session.requests(), response, target);
    } else if (templateId == CancelTransactionDecoder.TEMPLATE_ID) {
      long handle = Frames.wrap(new CancelTransactionDecoder(), frame).transactionHandle();
      core.cancellations().cancelTransaction(session.requests(), response, handle);
    } else if (session.requests().isBlocked()) {
      ExecutionHandler executes =
          switch (templateId) {
            case ExecuteDecoder.TEMPLATE_ID -> statements;
            case InvokeDecoder.TEMPLATE_ID -> invocations;
            default -> null;
          };
      session
          .requests()
          .defer(
              new DeferredFrame(
                  session, requestId, response, handler(templateId), executes, frame));
    } else {
      run(session, requestId, response, templateId, frame);
    }
  }

  private SharedMemorySession session(EndpointSession endpointSession) {
    if (endpointSession.attachment() instanceof SharedMemorySession session) {
      return session;
    }
    SharedMemorySession session =
        new SharedMemorySession(
            endpointSession, core.open(new SharedMemoryClient(endpointSession), true));
    endpointSession.attach(session);
    return session;
  }

  /// Runs one request; whatever fails here, except a malformed frame, is its answer.
  private void run(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      int templateId,
      DirectBuffer frame) {
    try {
      // The most frequent ones by direct calls.
      switch (templateId) {
        case ExecuteDecoder.TEMPLATE_ID -> statements.execute(session, requestId, response, frame);
        case InvokeDecoder.TEMPLATE_ID -> invocations.invoke(session, requestId, response, frame);
        case CommitDecoder.TEMPLATE_ID -> transactions.commit(session, requestId, response, frame);
        default -> handler(templateId).handle(session, requestId, response, frame);
      }
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      response.failed(e);
    }
  }

  /// @throws MalformedFrameException if no request has that template
  private FrameHandler handler(int templateId) {
    FrameHandler handler =
        templateId >= 0 && templateId < handlers.length ? handlers[templateId] : null;
    if (handler == null) {
      throw new MalformedFrameException("message " + templateId + " is no request");
    }
    return handler;
  }

  private void ping(SlotResponse response, DirectBuffer frame) {
    Frames.wrap(ping, frame);
    int length = Frames.nextLength(ping, frame);
    int offset = Frames.skipBytes(ping, length);
    response.pong(frame, offset, length);
  }

  @Override
  public void sessionClosed(EndpointSession endpointSession) {
    if (endpointSession.attachment() instanceof SharedMemorySession session) {
      core.close(session.requests());
    }
  }

  @Override
  public long tick(long nowNanos) {
    return core.tick(nowNanos);
  }

  /// Transactions with a handle that have not ended. Poller only, or after the end of the transport.
  @Override
  public int openTransactions() {
    return core.openTransactions();
  }
}
