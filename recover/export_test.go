package recovery

type Projection = projection

var ProjectCorrelations = projectCorrelations
