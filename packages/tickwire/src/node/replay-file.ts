/**
 * The file of a replay, written in the background: a match gives chunks, and the threads of Node's file system write
 * them one after the other. The match never waits for the disk.
 *
 * At most ten seconds of ticks wait. While more would, `write` refuses, and the recorder notes a gap. Every chunk is
 * one write at the end of the file, so a process that is killed leaves a file that is valid up to the last write.
 */

import { mkdirSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { REPLAY_CHUNK_TICKS, REPLAY_QUEUE_TICKS } from '../core/base/limits.ts'
import type { RecordingSink } from '../core/replay/recording-writer.ts'

const QUEUE_CHUNKS = REPLAY_QUEUE_TICKS / REPLAY_CHUNK_TICKS

/** A file that is written in the background. */
export class ReplayFile implements RecordingSink {
  /** The path of the file. */
  readonly path: string
  /** Why nothing more is written: the disk is full, or the file cannot be made. */
  failure: Error | undefined = undefined
  #queue: Uint8Array[] = []
  #isWriting = false
  #handle: FileHandle | undefined
  #idle: (() => void)[] = []

  constructor(path: string) {
    this.path = path
  }

  /** Chunks that are not written yet. */
  get waiting(): number {
    return this.#queue.length
  }

  write(bytes: Uint8Array): boolean {
    if (this.failure !== undefined || this.#queue.length >= QUEUE_CHUNKS) return false
    this.#queue.push(bytes.slice())
    void this.#work()
    return true
  }

  /** Resolves when everything is written, and closes the file. */
  async close(): Promise<void> {
    if (this.#isWriting) await new Promise<void>((resolve) => { this.#idle.push(resolve) })
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #work(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    try {
      mkdirSync(dirname(this.path), { recursive: true })
      this.#handle ??= await open(this.path, 'w')
      for (let [next] = this.#queue; next !== undefined; [next] = this.#queue) {
        for (let at = 0; at < next.length; ) at += (await this.#handle.write(next, at)).bytesWritten
        this.#queue.shift()
      }
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error))
      this.#queue = []
    }
    this.#isWriting = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
