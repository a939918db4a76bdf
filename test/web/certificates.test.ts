import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { doorError } from '../../src/web/door.ts'
import { SELF_SIGNED } from './certificate.ts'
import { startSink, testDoor, wanted } from './net.ts'

const REMEDY = 'NODE_EXTRA_CA_CERTS'

it('a certificate that nobody trusted has signed is named, to the operator with the remedy', async () => {
  const server = createServer(SELF_SIGNED, (_request, response) => response.end('inside'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const configured = testDoor().ask(`https://localhost:${port}/`, { ...wanted, configured: true })
  await expect(configured).rejects.toThrow(`The certificate of localhost:${port} is signed by nobody who is trusted`)
  await expect(configured).rejects.toThrow(REMEDY)
  const found = await testDoor()
    .ask(`https://example.org:${port}/`, wanted)
    .catch((error: Error) => error.message)
  expect(found).toBe(`The certificate of example.org:${port} is signed by nobody who is trusted here.`)
})

it('a server without TLS is named, to the operator with the remedy', async () => {
  const { port } = await startSink()
  const asked = testDoor().ask(`https://localhost:${port}/`, { ...wanted, configured: true })
  await expect(asked).rejects.toThrow(
    `localhost:${port} does not speak TLS: its address may have to begin with http://`,
  )
})

it.each([
  ['CERT_HAS_EXPIRED', 'has expired: it has to be renewed there.'],
  ['CERT_NOT_YET_VALID', 'is not valid yet: look at the clocks of both machines.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name: use that name in its address.'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', REMEDY],
  ['SELF_SIGNED_CERT_IN_CHAIN', REMEDY],
])('%s has words of its own and a remedy', (code, words) => {
  const error = Object.assign(new Error('fetch failed'), { cause: Object.assign(new Error(), { code }) })
  expect(doorError(error, { host: 'models.example', configured: true }).message).toContain(words)
  expect(doorError(error, { host: 'models.example', configured: false }).message).toMatch(
    /^The certificate of [^:]+\.$/,
  )
})
