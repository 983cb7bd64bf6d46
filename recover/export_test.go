package recovery

var ProjectCorrelations = projectCorrelations
