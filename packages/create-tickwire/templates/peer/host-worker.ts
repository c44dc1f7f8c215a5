// The match of a player that hosts, in a Worker: browsers slow down hidden pages, but not their Workers.
import { runHost } from 'tickwire/worker'
import { game } from './game.ts'

runHost(game, { maxPlayers: 8 })
