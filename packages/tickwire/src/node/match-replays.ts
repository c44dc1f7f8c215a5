/** Records every match of a relay into a folder, sealed with the key of the server. */

import { join } from 'node:path'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { RecordedMatch, RelayRecorder } from '../core/relaying/match-keeping.ts'
import { matchHead } from '../core/replay/match-head.ts'
import { MatchRecorder } from '../core/replay/match-recorder.ts'
import { ReplayFile } from './replay-file.ts'

/**
 * A recorder for one match: `{id}_{seed}.twr` in the folder. After a handover it is `{id}_{seed}_{tick}.twr`, so relays
 * that share a folder keep both files. `onClosed`: the file is complete.
 */
export function recordMatch(
  { id, seed, game, log, takeover }: RecordedMatch, folder: string, provider: CryptoProvider, identity: Uint8Array,
  onClosed: (file: ReplayFile) => void = () => {},
): RelayRecorder {
  const file = new ReplayFile(join(folder, `${id}_${seed}${takeover ? `_${takeover.tick}` : ''}.twr`))
  const recorder = new MatchRecorder({
    log, match: { fingerprint: game.fingerprint, seed }, sink: file,
    head: matchHead(game, Math.floor(Date.now() / 1000)),
    sha256: (bytes) => provider.sha256(bytes), signer: provider.importSigning(identity),
    ...(takeover && { handover: takeover }),
  })
  return {
    handleTicks: (now) => recorder.handleTicks(now),
    handleRoot: (player, tick, root) => recorder.handleRoot(player, tick, root),
    handlePlayerSeal: (seal) => recorder.handlePlayerSeal(seal),
    handleImage: (tick, image, witnesses) => recorder.handleImage(tick, image, witnesses),
    close(now) {
      recorder.close(now)
      void file.close().then(() => onClosed(file))
    },
  }
}
