/** Code that must not compile: calls of another stage of a line. */

import { expectTypeOf } from 'vitest'
import type { BitReader } from '../bits/bit-reader.ts'
import type { Line } from './relay-line.ts'

declare const connecting: Line<'connecting'>
declare const authenticated: Line<'authenticated'>
declare const lobby: Line<'in-lobby'>
declare const game: Line<'in-game'>
declare const closed: Line<'disconnecting'>
declare const frame: BitReader

expectTypeOf(connecting.authenticate(1, false)).toEqualTypeOf<Line<'authenticated'> | 'bad-signature'>()
expectTypeOf(authenticated.joinLobby(0)).toEqualTypeOf<Line<'in-lobby'> | 'full'>()
expectTypeOf(lobby.startGame()).toEqualTypeOf<Line<'in-game'> | undefined>()
expectTypeOf(game.endGame()).toEqualTypeOf<Line<'in-lobby'>>()
expectTypeOf(game.close()).toEqualTypeOf<Line<'disconnecting'>>()

// @ts-expect-error: a client that is not known cannot join
connecting.joinLobby(0)
// @ts-expect-error: a client that is not known has no orders
connecting.handleOrders(0, frame)
// @ts-expect-error: it is authenticated once
authenticated.authenticate(1, false)
// @ts-expect-error: it is not in a lobby
authenticated.startGame()
// @ts-expect-error: it is not in a game
authenticated.handleOrders(0, frame)
// @ts-expect-error: no orders before the game
lobby.handleOrders(0, frame)
// @ts-expect-error: it has joined already
lobby.joinLobby(0)
// @ts-expect-error: no game ends before it has started
lobby.endGame()
// @ts-expect-error: the game has started already
game.startGame()
// @ts-expect-error: nothing follows the end
closed.close()
// @ts-expect-error: a closed line has no orders
closed.handleOrders(0, frame)
// @ts-expect-error: a stage cannot stand for another
expectTypeOf<Line<'in-lobby'>>(game)
