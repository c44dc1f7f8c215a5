/** A process of Node as a mesh that forms by a code sees it. */

import type { MeshMachine } from '../core/client/mesh-code.ts'
import { Rendezvous } from '../core/client/rendezvous.ts'
import { isLocalHost, parseServerUrl } from '../core/client/server-url.ts'
import type { PathMode } from '../core/nat/candidates.ts'
import { bytesToHex } from '../core/nat/hex.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { openMeshPaths } from './mesh-paths.ts'
import { nodePlatform } from './node-platform.ts'
import { nodeRendezvous } from './rendezvous-machine.ts'

/** `rendezvous`: its address. */
export function meshMachine(fingerprint: Uint8Array, rendezvous: string | URL, mode: PathMode): MeshMachine {
  const base = parseServerUrl(String(rendezvous), (text) => new URL(text), ['https', 'http'])
  const isLocal = isLocalHost(base.hostname)
  const provider = bestProvider()
  return {
    rendezvous: new Rendezvous(new URL('.', base).href, nodeRendezvous), fingerprint: bytesToHex(fingerprint), isLocal,
    entropy: systemEntropy, later: nodePlatform.later,
    openPaths: (relays) => openMeshPaths(relays, mode, provider, isLocal),
  }
}
