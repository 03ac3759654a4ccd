// A Next app as small as they come: one route of each router.

export default { devIndicators: false, typescript: { ignoreBuildErrors: true } }
