/** Textures that the page makes itself: nothing is downloaded. */

import * as THREE from 'three'

const SIDE = 512
const GLOW_SIDE = 128

/** Panels of metal with seams, as in the arena. `across`: panels on a side; `lightness`: in percent. */
export function panelTexture(across: number, lightness: number, isReduced: boolean): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const pen = canvas.getContext('2d')!
  let seed = across * 7919 + lightness
  const roll = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 0x1_0000_0000
  const panel = SIDE / across
  for (let row = 0; row < across; row++) {
    for (let column = 0; column < across; column++) {
      pen.fillStyle = `hsl(${224 + roll() * 12} 20% ${lightness + roll() * 7}%)`
      pen.fillRect(column * panel, row * panel, panel, panel)
    }
  }
  for (let speck = 0; speck < 7000; speck++) {
    pen.fillStyle = roll() < 0.5 ? `rgb(0 0 20 / ${roll() * 12}%)` : `rgb(255 255 255 / ${roll() * 6}%)`
    pen.fillRect(roll() * SIDE, roll() * SIDE, 1 + roll() * 5, 1 + roll() * 2)
  }
  for (let row = 0; row < across; row++) {
    for (let column = 0; column < across; column++) {
      const [x, y] = [column * panel, row * panel]
      pen.strokeStyle = 'rgb(4 6 22 / 62%)'
      pen.lineWidth = 3
      pen.strokeRect(x, y, panel, panel)
      pen.strokeStyle = 'rgb(255 255 255 / 9%)'
      pen.lineWidth = 1
      pen.strokeRect(x + 3, y + 3, panel - 6, panel - 6)
      pen.fillStyle = 'rgb(4 6 22 / 40%)'
      for (const [dx, dy] of [[8, 8], [panel - 11, 8], [8, panel - 11], [panel - 11, panel - 11]] as const)
        pen.fillRect(x + dx, y + dy, 3, 3)
    }
  }
  const texture = new THREE.CanvasTexture(canvas)
  texture.colorSpace = THREE.SRGBColorSpace
  texture.wrapS = THREE.RepeatWrapping
  texture.wrapT = THREE.RepeatWrapping
  // Each look into a texture costs a processor that draws more than all the light.
  if (isReduced) texture.minFilter = THREE.LinearMipmapNearestFilter
  else texture.anisotropy = 4
  return texture
}

/** A round spot that fades out: light when it is added, shadow as an alpha map. */
export function glowTexture(): THREE.CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = GLOW_SIDE
  canvas.height = GLOW_SIDE
  const pen = canvas.getContext('2d')!
  const middle = GLOW_SIDE / 2
  const gradient = pen.createRadialGradient(middle, middle, 0, middle, middle, middle)
  gradient.addColorStop(0, '#fff')
  gradient.addColorStop(0.25, '#8c8c8c')
  gradient.addColorStop(0.6, '#262626')
  gradient.addColorStop(1, '#000')
  pen.fillStyle = gradient
  pen.fillRect(0, 0, GLOW_SIDE, GLOW_SIDE)
  return new THREE.CanvasTexture(canvas)
}
