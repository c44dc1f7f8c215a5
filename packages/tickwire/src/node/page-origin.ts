/**
 * Whether a page of an origin may connect. Browsers send the origin of a page; programs that are not browsers send
 * none.
 *
 * A foreign page must not act with a visitor's rights, so other origins are refused unless they are on the list.
 */

/** Origins that may connect in addition to the server's own; 'any' for a public server. */
export type AllowedOrigins = readonly string[] | 'any'

/** `hosts` are the server's own host and port, as a page may write them. */
export function isAllowedOrigin(
  origin: string | undefined,
  hosts: readonly (string | undefined)[],
  allowed: AllowedOrigins,
): boolean {
  if (origin === undefined || allowed === 'any' || allowed.includes(origin)) return true
  return URL.canParse(origin) && hosts.includes(new URL(origin).host)
}

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/

/**
 * Whether a `Host` header names this machine. A server that serves only this machine answers no other host: otherwise a
 * web page whose name resolves to 127.0.0.1 could read it.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_HOST.test(host ?? '')
}
