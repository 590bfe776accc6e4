package dev.kakehashi.queue.push;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// Where tasks may be pushed. Immutable.
///
/// An entry is a host (`mail.example.com`), a host with its port (`mail.example.com:8443`), all hosts of a domain (`*.example.com`), or a
/// network of addresses (`10.1.0.0/16`, `::1/128`). A name has to be among the hosts. An address that a name stands for, at the time of the
/// connection, has to be a public one or in a network of the list; so has one in place of a name.
public final class PushTargets {
  private static final Pattern HOST =
      Pattern.compile("(\\*\\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(:[0-9]{1,5})?");
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-f:.]*:[0-9a-f:.]*");

  private final List<String> hosts;
  private final List<Network> networks;

  private record Network(byte[] address, int bits) {
    boolean contains(InetAddress other) {
      byte[] bytes = other.getAddress();
      if (bytes.length != address.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> bit % 8;
        if ((bytes[bit / 8] & mask) != (address[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  private PushTargets(List<String> hosts, List<Network> networks) {
    this.hosts = hosts;
    this.networks = networks;
  }

  /// Reads a list with commas.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE, with the entry
  public static PushTargets of(String list) {
    List<String> hosts = new ArrayList<>();
    List<Network> networks = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      String entry = part.strip().toLowerCase(Locale.ROOT);
      if (entry.isEmpty()) {
        continue;
      }
      int slash = entry.indexOf('/');
      if (slash >= 0) {
        networks.add(network(entry, slash));
      } else if (HOST.matcher(entry).matches() && !ADDRESS.matcher(entry).matches()) {
        hosts.add(entry);
      } else {
        throw refused(
            "\"" + entry + "\" is neither a host nor a network of addresses as in 10.1.0.0/16");
      }
    }
    return new PushTargets(List.copyOf(hosts), List.copyOf(networks));
  }

  private static Network network(String entry, int slash) {
    String address = entry.substring(0, slash);
    String bits = entry.substring(slash + 1);
    if (ADDRESS.matcher(address).matches() && bits.matches("[0-9]{1,3}")) {
      try {
        byte[] bytes = InetAddress.getByName(address).getAddress();
        int count = Integer.parseInt(bits);
        if (count <= bytes.length * 8) {
          return new Network(bytes, count);
        }
      } catch (UnknownHostException e) {
        throw refused("\"" + entry + "\" is no network of addresses: " + e.getMessage());
      }
    }
    throw refused("\"" + entry + "\" is no network of addresses");
  }

  /// Checks a URL before anything is resolved.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, INVALID_PARAMETER_VALUE
  public URI check(String url) {
    URI target;
    try {
      target = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw refused("\"" + url + "\" is no URL: " + e.getMessage());
    }
    String scheme = target.getScheme();
    String host = target.getHost();
    boolean http = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!http || host == null || target.getUserInfo() != null || target.getFragment() != null) {
      throw refused(
          "\"" + url + "\" is no URL of a target: http:// or https://, a host, a port, a path");
    }
    String name = bare(host);
    if (ADDRESS.matcher(name).matches()) {
      checkAddress(name, addresses(name).getFirst());
    } else if (hosts.stream().noneMatch(entry -> matches(entry, name, port(target)))) {
      throw forbidden("host \"" + name + "\" is not in the setting queue_push_targets");
    }
    return target;
  }

  private static String bare(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    return lower.startsWith("[") ? lower.substring(1, lower.length() - 1) : lower;
  }

  private static int port(URI target) {
    if (target.getPort() >= 0) {
      return target.getPort();
    }
    return "https".equalsIgnoreCase(target.getScheme()) ? 443 : 80;
  }

  private static boolean matches(String entry, String host, int port) {
    int colon = entry.indexOf(':');
    String name = colon < 0 ? entry : entry.substring(0, colon);
    if (colon >= 0 && Integer.parseInt(entry.substring(colon + 1)) != port) {
      return false;
    }
    return name.startsWith("*.") ? host.endsWith(name.substring(1)) : host.equals(name);
  }

  /// Resolves a host for a connection, all of whose addresses have to be allowed: so a name cannot be turned to another place after the
  /// check.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, CANNOT_CONNECT
  public List<InetAddress> resolve(String host) {
    String name = bare(host);
    List<InetAddress> addresses = addresses(name);
    addresses.forEach(each -> checkAddress(name, each));
    return addresses;
  }

  private static List<InetAddress> addresses(String name) {
    try {
      return List.of(InetAddress.getAllByName(name));
    } catch (UnknownHostException e) {
      throw new EngineException(
          ErrorCode.CANNOT_CONNECT, "host \"" + name + "\" has no address", e);
    }
  }

  private void checkAddress(String name, InetAddress address) {
    boolean named = ADDRESS.matcher(name).matches();
    if ((named || !isPublic(address)) && networks.stream().noneMatch(n -> n.contains(address))) {
      throw forbidden(
          "address %s of target \"%s\" is in no network of the setting queue_push_targets"
              .formatted(address.getHostAddress(), name));
    }
  }

  private static boolean isPublic(InetAddress address) {
    byte[] bytes = address.getAddress();
    // Unique local addresses, and those that carriers share.
    boolean local = bytes.length == 16 && (bytes[0] & 0xFE) == 0xFC;
    boolean shared = bytes.length == 4 && bytes[0] == 100 && (bytes[1] & 0xC0) == 64;
    return !(local
        || shared
        || address.isAnyLocalAddress()
        || address.isLoopbackAddress()
        || address.isLinkLocalAddress()
        || address.isSiteLocalAddress()
        || address.isMulticastAddress());
  }

  private static EngineException refused(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private static EngineException forbidden(String message) {
    return new EngineException(ErrorCode.INSUFFICIENT_PRIVILEGE, message);
  }
}
