/**
 * One key opens the overlay of every match of this page: what `import 'tickwire/devtools'` is for.
 *
 * Until it is pressed, a listener for keys is all there is.
 */

import { onRoomOpened } from '../browser/open-rooms.ts'
import type { Room } from '../browser/room.ts'
import { Devtools, openDevtools } from './devtools.ts'

/** Left of the 1, on every keyboard. */
export const DEVTOOLS_KEY = 'Backquote'

const all = new Map<Room, Devtools>()

/** The devtools of a room that this page is in, made when they are first asked for. */
export function devtoolsOf(room: Room): Devtools {
  const devtools = all.get(room) ?? openDevtools(room, { isOpen: false })
  all.set(room, devtools)
  return devtools
}

/** From now on the key works. */
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
    if (event.code !== DEVTOOLS_KEY || event.repeat || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return
    if (newest !== undefined) devtoolsOf(newest).toggle()
  })
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable)
}
