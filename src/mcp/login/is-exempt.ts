/** Returns true for an address of this machine by its words. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/**
 * Returns true for an address that belongs to what the operator wrote: the origin of the server itself, and for a
 * server on this machine others on this machine. Whatever else a server names is checked like any address of the net.
 */
export function isExempt(server: string, url: URL): boolean {
  const own = new URL(server)
  return url.origin === own.origin || (isLoopback(own) && isLoopback(url))
}
