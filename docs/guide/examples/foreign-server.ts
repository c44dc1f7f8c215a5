/** An R-Type server on UDP: for docs/guide/foreign-protocol.md. */

// #region server
import { serveRtype, type ServingRtype } from 'tickwire/node'

/** Greets each client with the first level, and echoes what it presses. */
export async function serveGreeting(port: number): Promise<ServingRtype> {
  const server = await serveRtype({ port, tickRate: 60 }, (event) => {
    if (event.kind === 'join') {
      server.send(event.peer, { type: 'LEVEL_START', levelId: 1, levelName: 'The Drift', estimatedDurationS: 90 })
    } else if (event.kind === 'input' && event.input.inputState !== 0) {
      const { playerId, inputState } = event.input
      server.send(event.peer, { type: 'SCORE_UPDATE', playerId, newScore: inputState, scoreDelta: 0, reason: 4 })
    }
  })
  return server
}
// #endregion
