/** The dials of a lab, as a form: sliders for numbers, switches for the rest. */

import type { Dials, Settings } from '../lab.ts'
import { settingsOf } from '../lab.ts'
import { element } from './element.ts'

/** Receives the name of the changed dial, and the values of all dials. */
type Turned = (name: string, settings: Settings) => void

/** `onTurning` is called for every change of a dial, `onTurned` for its final value. */
export function dialsForm(dials: Dials, onTurning: Turned, onTurned: Turned): HTMLFormElement {
  const settings: Record<string, number | boolean> = { ...settingsOf(dials) }
  const rows = Object.entries(dials).map(([name, dial]) => {
    const isSwitch = typeof dial.value === 'boolean'
    const input = element('input', { id: `dial-${name}`, name, type: isSwitch ? 'checkbox' : 'range' })
    const output = element('output', { for: `dial-${name}` })
    const show = (): void => {
      output.textContent = isSwitch ? '' : `${input.value} ${'unit' in dial ? dial.unit : ''}`
    }
    if ('min' in dial)
      for (const part of ['min', 'max', 'step', 'value'] as const) input.setAttribute(part, `${dial[part]}`)
    else input.checked = dial.value
    input.addEventListener('input', () => {
      settings[name] = isSwitch ? input.checked : Number(input.value)
      show()
      onTurning(name, { ...settings })
    })
    input.addEventListener('change', () => onTurned(name, { ...settings }))
    show()
    return element(
      'div',
      { class: isSwitch ? 'dial switch' : 'dial' },
      element('label', { for: `dial-${name}` }, dial.label),
      output,
      input,
    )
  })
  const form = element('form', { class: 'dials', 'aria-label': 'Dials' }, ...rows)
  form.addEventListener('submit', (event) => event.preventDefault())
  return form
}
