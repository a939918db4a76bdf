import type { Login, Logins } from './logins.ts'

/** `revoked`: its authorization server has taken the tokens back; else they are forgotten here alone. */
export type LoggedOut = 'revoked' | 'forgotten' | 'none'

/** Forgets the login at a server, and asks its authorization server to take the tokens back, where it does that. */
export async function logOut(
  server: string,
  url: string,
  { logins, fetch }: { readonly logins: Logins; readonly fetch: typeof globalThis.fetch },
): Promise<LoggedOut> {
  return logins.alone(server, async () => {
    const login = logins.read(server, url)
    // First here: whatever becomes of the question, no token is used from now on.
    const there = logins.remove(server)
    if (login?.tokens === undefined) return there ? 'forgotten' : 'none'
    return (await revoke(login, fetch)) ? 'revoked' : 'forgotten'
  })
}

async function revoke({ metadata, client, tokens }: Login, fetch: typeof globalThis.fetch): Promise<boolean> {
  const { revocation_endpoint: endpoint } = metadata
  if (typeof endpoint !== 'string' || tokens === undefined) return false
  const { client_id, client_secret } = client
  const body = new URLSearchParams({ client_id, ...(client_secret === undefined ? {} : { client_secret }) })
  body.set('token', tokens.refresh_token ?? tokens.access_token)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(endpoint, { method: 'POST', headers, body }).catch(() => undefined)
  return answer?.ok === true
}
