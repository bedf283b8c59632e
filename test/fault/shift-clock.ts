// Loaded into a server by --import: its wall clock is off by SHIFT_MS. The monotonic clock is not touched.
const shiftMs = Number(process.env['SHIFT_MS'] ?? 0)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(ShiftedDate.now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + shiftMs
  }
}

globalThis.Date = ShiftedDate as DateConstructor
