/**
 * Keeps the ticket to a page's seat over a reload: in the storage of this tab, and only while the page is hidden.
 *
 * A duplicated tab gets a copy of the storage, so that two pages would compete for one seat. Therefore the ticket is
 * written when the page is hidden or unloaded, and removed when it is visible again: the storage of a visible page
 * holds no ticket that could be copied.
 *
 * If storage is forbidden (a sandboxed frame, a strict browser), a reload becomes a new player, without an error.
 */

const PREFIX = 'tickwire-seat '

/** The previous page's ticket for this place. It is removed from the storage. */
export function takeTicket(place: string): Uint8Array | undefined {
  try {
    const text = sessionStorage.getItem(PREFIX + place)
    sessionStorage.removeItem(PREFIX + place)
    const bytes = text === null ? undefined : Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))
    return bytes === undefined || bytes.length === 0 ? undefined : bytes
  } catch {
    return undefined
  }
}

/**
 * Keeps a ticket for the page that follows this one, until the returned function is called with how the match ended:
 * whether the connection was lost, so that the seat can still be taken again, or the match is over.
 */
export function keepTicket(place: string, ticket: Uint8Array): (isLost: boolean) => void {
  const text = Array.from(ticket, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const write = (isKept: boolean): void => {
    try {
      if (isKept) sessionStorage.setItem(PREFIX + place, text)
      else sessionStorage.removeItem(PREFIX + place)
    } catch {
      // reason: without storage a reload is a new player
    }
  }
  const handleVisibility = (): void => write(document.hidden)
  const handleHide = (): void => write(true)
  globalThis.addEventListener?.('pagehide', handleHide)
  globalThis.document?.addEventListener('visibilitychange', handleVisibility)
  return (isLost) => {
    globalThis.removeEventListener?.('pagehide', handleHide)
    globalThis.document?.removeEventListener('visibilitychange', handleVisibility)
    write(isLost)
  }
}
