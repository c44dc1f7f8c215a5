// #region worker
import { runHost } from 'tickwire/worker'
import { game } from './game.ts'

runHost(game, { maxPlayers: 8 })
// #endregion
