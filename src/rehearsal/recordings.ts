const NO_SOUND = Buffer.from([0xf8, 0xff, 0xfe])
const RATE = 48_000
const FRAME = 960
const SERIAL = 7_275
const BEGIN = 2
const END = 4
const SAID = 'PARLEY_SAID='

/**
 * Returns a recording as voice notes are: an Ogg file with Opus, silent for so many seconds. What is said in it stands
 * in its comments, where a rehearsed transcription finds it.
 */
export function recordingOf(said: string, seconds = 1): Buffer {
  const frames = Math.max(1, Math.round((seconds * RATE) / FRAME))
  const pages = [page(0, { flags: BEGIN, at: 0 }, [opusHead()]), page(1, { flags: 0, at: 0 }, [opusTags(said)])]
  // A page holds 255 segments at most.
  for (let done = 0, number = 2; done < frames; number++) {
    const count = Math.min(200, frames - done)
    done += count
    const packets = Array.from({ length: count }, () => NO_SOUND)
    pages.push(page(number, { flags: done === frames ? END : 0, at: done * FRAME }, packets))
  }
  return Buffer.concat(pages)
}

export function isOgg(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  return head.startsWith('OggS') && head.includes('OpusHead')
}

/** Returns what is said in a recording; undefined where it is none of ours. */
export function saidInRecording(bytes: Uint8Array): string | undefined {
  const all = Buffer.from(bytes)
  const begin = all.indexOf(SAID)
  if (!isOgg(all) || begin < 4) return undefined
  const length = all.readUInt32LE(begin - 4)
  const ours = all.subarray(begin, begin + length).toString()
  return ours.slice(SAID.length)
}

function opusHead(): Buffer {
  const head = Buffer.alloc(19)
  head.write('OpusHead', 'latin1')
  head[8] = 1
  head[9] = 1
  head.writeUInt32LE(RATE, 12)
  return head
}

/** The page that carries it holds 64 KB at most, so that long words are cut. */
function opusTags(said: string): Buffer {
  const comment = Buffer.from(`${SAID}${said}`).subarray(0, 40_000)
  const vendor = Buffer.from('rehearsal')
  const [vendorLength, count, length] = [vendor.length, 1, comment.length].map((value) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  })
  return Buffer.concat([
    Buffer.from('OpusTags'),
    vendorLength ?? NO_SOUND,
    vendor,
    count ?? NO_SOUND,
    length ?? NO_SOUND,
    comment,
  ])
}

function page(number: number, { flags, at }: { flags: number; at: number }, packets: readonly Buffer[]): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ])
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeBigUInt64LE(BigInt(at), 6)
  head.writeUInt32LE(SERIAL, 14)
  head.writeUInt32LE(number, 18)
  head[26] = lacing.length
  const whole = Buffer.concat([head, Buffer.from(lacing), ...packets])
  whole.writeUInt32LE(checksum(whole), 22)
  return whole
}

/** CRC-32 with the polynomial 0x04c11db7, not reflected, as Ogg has it. */
function checksum(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  }
  return crc >>> 0
}
