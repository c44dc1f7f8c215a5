/**
 * The ticket to a page's seat, over a reload: kept in this tab, and only while the page is out of sight.
 *
 * A tab that is duplicated takes its storage along, so that two pages would fight for one seat. Therefore the ticket is written when the page is
 * hidden or goes, and taken out when it is seen again or comes back: a page that is looked at has nothing in its storage to copy.
 *
 * Where storage is forbidden (a sandboxed frame, a strict browser) a reload is a new player, and nothing else happens.
 */

const PREFIX = 'tickwire-seat '

/** The ticket of the page before, for this place; it is gone from the storage then. */
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
 * Keeps a ticket for whoever comes after this page, until it is said how the match ended: whether the line was lost, so that the seat may
 * still be taken again, or it is over.
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
