/**
 * May a page of this origin play here? Browsers say where a page came from, and programs that are no browser say nothing.
 *
 * A stranger's page must not play with a visitor's standing, so another origin is refused unless it is on the list.
 */

/** Origins that may come beside the server's own; 'any' for a public server. */
export type AllowedOrigins = readonly string[] | 'any'

/** `hosts` are host and port of the server as the page may write them; each is the server's own. */
export function isAllowedOrigin(origin: string | undefined, hosts: readonly (string | undefined)[], allowed: AllowedOrigins): boolean {
  if (origin === undefined || allowed === 'any' || allowed.includes(origin)) return true
  return URL.canParse(origin) && hosts.includes(new URL(origin).host)
}
