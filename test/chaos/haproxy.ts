/** A configuration of HAProxy for chaos rows. */

/** One address before several instances of a fleet service, which it checks at `/readyz`. */
export function haproxy(front: number, ports: readonly number[]): string {
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  option redispatch
  retries 3
  retry-on conn-failure empty-response
frontend front
  bind 127.0.0.1:${front}
  default_backend fleet
backend fleet
  option httpchk GET /readyz
${ports.map((port) => `  server s${port} 127.0.0.1:${port} check inter 300ms fall 2 rise 2`).join('\n')}
`
}
