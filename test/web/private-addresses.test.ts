import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../src/web/public-address.ts'
import { PUBLIC, startSink, testDoor, wanted } from './net.ts'

/** Ways to write an address of this machine or of a private net; `:0` becomes the port of the sink. */
const FORMS = [
  'http://127.0.0.1:0/',
  'http://127.0.0.2:0/',
  'http://127.1:0/',
  'http://127.0.1:0/',
  'http://0:0/',
  'http://0.0.0.0:0/',
  'http://2130706433:0/',
  'http://0x7f000001:0/',
  'http://0x7f.1:0/',
  'http://0X7F.0.0.1:0/',
  'http://0177.0.0.1:0/',
  'http://017700000001:0/',
  'http://127.0.0.1.:0/',
  'http://127.0.0.1%00.example.org:0/',
  'http://%31%32%37.0.0.1:0/',
  'http://127。0。0。1:0/',
  'http://127．0．0．1:0/',
  'http://①②⑦.0.0.1:0/',
  'http://[::1]:0/',
  'http://[::]:0/',
  'http://[0:0:0:0:0:0:0:1]:0/',
  'http://[::ffff:127.0.0.1]:0/',
  'http://[::ffff:7f00:1]:0/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]:0/',
  'http://[::127.0.0.1]:0/',
  'http://[64:ff9b::127.0.0.1]:0/',
  'http://[64:ff9b:1::7f00:1]:0/',
  'http://[2002:7f00:1::]:0/',
  'http://[2001:0:7f00:1::]:0/',
  'http://[fe80::1]:0/',
  'http://[fec0::1]:0/',
  'http://[fd00::1]:0/',
  'http://[fc00::1]:0/',
  'http://[ff02::1]:0/',
  'http://[2001:db8::1]:0/',
  'http://[3fff::1]:0/',
  'http://[100::1]:0/',
  'http://[4000::1]:0/',
  'http://10.0.0.1:0/',
  'http://172.16.0.1:0/',
  'http://192.168.1.1:0/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.64.0.1:0/',
  'http://198.18.0.1:0/',
  'http://192.0.0.1:0/',
  'http://192.0.2.1:0/',
  'http://203.0.113.9:0/',
  'http://192.88.99.1:0/',
  'http://224.0.0.1:0/',
  'http://240.0.0.1:0/',
  'http://255.255.255.255:0/',
  'http://localhost:0/',
  'http://LOCALHOST:0/',
  'http://localhost.:0/',
  'http://ⓛocalhost:0/',
  'http://a.localhost:0/',
  'http://printer.local:0/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://router:0/',
  'http://example.org.:0/',
  'http://nas.lan:0/',
  'http://box.home.arpa:0/',
  'http://me@127.0.0.1:0/',
  'http://example.org@127.0.0.1:0/',
  'http://me:word@example.org:0/',
  'http:127.0.0.1:0/',
  'http:\\\\127.0.0.1:0\\',
  'http://127.0.0.1:0\\@example.org/',
  'http://134744072:0/',
  'http://0x5d.0xb8.0xd7.0x0e:0/',
  'http://0135.0270.0327.016:0/',
  'http://93.12113678:0/',
  'http://аpple.com:0/',
  'http://bücher.de:0/',
  'http://exa\tmple.org:0/',
  'http://example%2eorg:0/',
  'http:example.org:0/',
  'http:///example.org:0/',
  'ftp://127.0.0.1:0/',
  'file:///etc/passwd',
  'unix:/run/docker.sock',
  'http+unix://%2Frun%2Fdocker.sock/',
  'gopher://127.0.0.1:0/_x',
  'data:text/html,hi',
  'javascript:fetch(1)',
  '//127.0.0.1:0/',
  '127.0.0.1:0',
  '',
]

describe('addresses that no tool can reach', () => {
  it.each(FORMS)('C34, F-I07: %s is refused before anything is sent', async (form) => {
    const sink = await startSink()
    const address = form.replace(/:0(?=[/\\]|$)/, `:${sink.port}`)
    const error = testDoor({ resolve: async () => ['127.0.0.1'] }).ask(address, wanted)
    await expect(error).rejects.toMatchObject({
      code: expect.stringMatching(/^(forbidden|invalid)$/),
      message: expect.stringMatching(/not on the public net|must begin with|name or password/),
    })
    expect(sink.connections()).toBe(0)
  })

  it.each([
    ['127.0.0.1'],
    ['::1'],
    ['10.1.2.3'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    [PUBLIC, '127.0.0.1'],
    ['127.0.0.1', PUBLIC],
    ['fe80::1%lo'],
    ['what is this'],
  ])('C34, F-I07: a name of %s is refused as a whole', async (...addresses) => {
    const sink = await startSink()
    const door = testDoor({ resolve: async () => addresses })
    await expect(door.ask(`http://example.org:${sink.port}/`, wanted)).rejects.toMatchObject({ code: 'forbidden' })
    expect(sink.connections()).toBe(0)
  })

  it.each([
    '168.63.129.16',
    '192.80.8.124',
    '161.26.0.10',
    '166.9.1.1',
    '64:ff9b::a83f:8110',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
  ])('C34: %s, of the host of a rented machine, is no public address', (address) =>
    expect(isPublicAddress(address)).toBe(false),
  )

  it.each([
    ['93.184.215.14', 'http://93.184.215.14:0/'],
    ['93.184.215.14', 'http://[64:ff9b::5db8:d70e]:0/'],
    ['2606:2800:21f::1', 'http://[2606:2800:21f::1]:0/'],
    ['93.184.215.14', 'http://example.org:0/'],
    ['2606:2800:21f::1%eth0', 'http://named.example.org:0/'],
  ])("C34: the machine's own public address %s is not reached as %s", async (own, address) => {
    const sink = await startSink()
    const resolve = async (host: string) => [host === 'example.org' ? '93.184.215.14' : '2606:2800:21F:0::1']
    const deps = { resolve, landing: () => '127.0.0.1', own: () => ['127.0.0.1', own] }
    const asked = testDoor(deps).ask(address.replace(':0/', `:${sink.port}/`), wanted)
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' })
    expect(sink.connections()).toBe(0)
  })

  it('C34: the addresses of the machine are asked at each connection', async () => {
    const sink = await startSink()
    let own: readonly string[] = []
    const door = testDoor({ own: () => own })
    expect(await door.ask(`http://example.org:${sink.port}/`, wanted)).toMatchObject({ status: 200 })
    own = [PUBLIC]
    await expect(door.ask(`http://example.org:${sink.port}/`, wanted)).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('C34: a name whose answer changes is connected to where it was checked, or not at all', async () => {
    const sink = await startSink()
    let looked = 0
    const door = testDoor({
      resolve: async () => (looked++ === 0 ? [PUBLIC] : ['127.0.0.1']),
      landing: () => '127.0.0.1',
    })
    const first = await door.ask(`http://example.org:${sink.port}/`, wanted)
    expect(first).toMatchObject({ kind: 'answer', status: 200 })
    expect(looked).toBe(1)
    await expect(door.ask(`http://example.org:${sink.port}/`, wanted)).rejects.toMatchObject({ code: 'forbidden' })
    expect(sink.connections()).toBe(1)
  })

  it('C34: a name whose answer changes between two redirects is refused at the second', async () => {
    const sink = await startSink((_request, response) => response.writeHead(302, { location: '/again' }).end())
    let looked = 0
    const door = testDoor({ resolve: async () => (looked++ === 0 ? [PUBLIC] : ['10.0.0.1']) })
    await expect(door.ask(`http://example.org:${sink.port}/`, wanted)).rejects.toMatchObject({ code: 'forbidden' })
    expect(sink.asked).toEqual([`example.org:${sink.port}/`])
  })

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:1/',
    'http://localhost/',
    'file:///etc/passwd',
    'http://[::1]/',
    '//127.1/',
  ])('C34: a redirect to %s is refused', async (location) => {
    const sink = await startSink((_request, response) => response.writeHead(302, { location }).end())
    await expect(testDoor().ask(`http://example.org:${sink.port}/`, wanted)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('redirects elsewhere, and that is refused'),
    })
    expect(sink.connections()).toBe(1)
  })

  it("C34: an operator's own origin may be on loopback, and a redirect from it may not", async () => {
    const inner = await startSink()
    const sink = await startSink((request, response) => {
      if (request.url === '/') response.end('results')
      else if (request.url === '/same') response.writeHead(302, { location: '/' }).end()
      else response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end()
    })
    const origin = `http://127.0.0.1:${sink.port}`
    const configured = { ...wanted, configured: true } as const
    expect(await testDoor().ask(`${origin}/`, configured)).toMatchObject({ kind: 'answer', status: 200 })
    await expect(testDoor().ask(`${origin}/same`, configured)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(testDoor().ask(`${origin}/other`, configured)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(testDoor().ask(`${origin}/`, wanted)).rejects.toMatchObject({ code: 'forbidden' })
    expect(sink.connections()).toBe(3)
    expect(inner.connections()).toBe(0)
  })

  it('C34: no proxy is asked but those that the start has read', async () => {
    const proxy = await startSink()
    const sink = await startSink()
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`
    try {
      await testDoor().ask(`http://example.org:${sink.port}/`, wanted)
    } finally {
      for (const name of names) delete process.env[name]
    }
    expect([proxy.connections(), sink.connections()]).toEqual([0, 1])
  })

  it('C34: hosts of the public net are none of these, by IPv4, IPv6 and NAT64', () => {
    const some = [PUBLIC, '8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450::1', '64:ff9b::808:808']
    expect(some.filter((address) => !isPublicAddress(address))).toEqual([])
  })
})
