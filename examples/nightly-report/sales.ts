// Simulated sales figures of a shop. They are always the same for the same time.

export async function salesBefore(time: Date) {
  const orders = 40 + (Math.floor(time.getTime() / 1000) % 20)
  return { orders, revenue: orders * 35 }
}
