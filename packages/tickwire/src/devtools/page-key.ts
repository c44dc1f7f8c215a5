/**
 * One key opens the overlay of every match of this page: the purpose of `import 'tickwire/devtools'`.
 *
 * Until the key is pressed, only a key listener is installed.
 */

import { onRoomOpened } from '../browser/open-rooms.ts'
import type { Room } from '../core/client/room.ts'
import { Devtools, openDevtools } from './devtools.ts'

/** The key left of the 1, on every keyboard layout. */
export const DEVTOOLS_KEY = 'Backquote'

const all = new Map<Room, Devtools>()

/** The devtools of a room of this page, created on first use. */
export function devtoolsOf(room: Room): Devtools {
  const devtools = all.get(room) ?? openDevtools(room, { isOpen: false })
  all.set(room, devtools)
  return devtools
}

/** Installs the key listener. */
export function listenForKey(): void {
  let newest: Room | undefined
  onRoomOpened((room) => {
    newest = room
    void room.closed.then(() => {
      all.get(room)?.close()
      all.delete(room)
      if (newest === room) newest = undefined
    })
  })
  addEventListener('keydown', (event) => {
    if (
      event.code !== DEVTOOLS_KEY
      || event.repeat
      || event.ctrlKey
      || event.altKey
      || event.metaKey
      || isTyping(event.target)
    )
      return
    if (newest !== undefined) devtoolsOf(newest).toggle()
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement
    || target instanceof HTMLTextAreaElement
    || (target instanceof HTMLElement && target.isContentEditable)
  )
}
