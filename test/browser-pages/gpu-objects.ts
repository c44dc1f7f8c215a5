/** Counts the GPU objects that a page makes and deletes. */

/** Counts from this call on, so it comes before the picture is made. */
export function countGpuObjects(): { made: number; deleted: number } {
  type Calls = Record<string, (...args: never[]) => unknown>
  const counts = { made: 0, deleted: 0 }
  const { prototype } = WebGL2RenderingContext as unknown as { readonly prototype: Calls }
  for (const kind of ['Buffer', 'Texture', 'VertexArray', 'Framebuffer', 'Renderbuffer', 'Program', 'Shader']) {
    for (const [verb, count] of [['create', 'made'], ['delete', 'deleted']] as const) {
      const plain = prototype[verb + kind]!
      prototype[verb + kind] = function counted(this: unknown, ...args: never[]) {
        counts[count]++
        return plain.apply(this, args)
      }
    }
  }
  return counts
}
