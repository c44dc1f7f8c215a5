/** A page that plays in a fleet, whose service also serves the page. */

import { connect, fleet } from 'tickwire/browser'
import { game } from '../chaos/game.ts'

const says = document.getElementById('says')!
try {
  const room = await connect(game, fleet(location.origin))
  says.textContent = `playing, ${room.security.identity}`
  const { code } = await room.closed
  says.textContent = `closed: ${code}`
} catch (error) {
  says.textContent = String(error)
}
