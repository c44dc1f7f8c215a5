/** A fleet as an argument of `connect`. The way to its servers is in `fleet.ts`, which pages load when they need it. */

/** A seat that a fleet has reserved: where it is, and the token that proves it. */
export interface FleetSeat {
  /** The address of the server. */
  readonly url: string
  /** The id of the room. Empty if the client creates it. */
  readonly room: string
  /** A token for one client. It is valid for some seconds. */
  readonly token: Uint8Array
}

/** A fleet, as the second argument of `connect`. */
export interface FleetPlace {
  /** The address of the fleet service. */
  readonly fleet: string
  /** A seat that was reserved before, by a party or a matchmaker. Default: the fleet is asked for one. */
  readonly seat?: FleetSeat
}

/** A fleet: pass it to `connect` instead of the address of a server. */
export function fleet(url: string | { readonly href: string }, seat?: FleetSeat): FleetPlace {
  return { fleet: typeof url === 'string' ? url : url.href, ...(seat && { seat }) }
}
